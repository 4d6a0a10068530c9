// What the docs can do beyond reading: copy buttons, and examples that run.
import './app.css'

for (const pre of document.querySelectorAll<HTMLElement>('article pre')) {
  const box = document.createElement('div')
  box.className = 'code'
  pre.before(box)
  box.append(pre)
  pre.tabIndex = 0 // it may scroll
  const copy = button('Copy')
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(commands(pre.innerText))
    copy.textContent = 'Copied'
    setTimeout(() => (copy.textContent = 'Copy'), 2000)
  })
  box.append(copy)
  if (pre.dataset.get) runnable(pre, pre.dataset.get)
}

/** What to paste: of a terminal session the commands without their output, of anything else all of it. */
function commands(text: string): string {
  if (!/^\$ /m.test(text)) return text
  const lines: string[] = []
  let typing = false
  for (const line of text.split('\n')) {
    typing = line.startsWith('$ ') || (typing && line.startsWith('> '))
    if (typing) lines.push(line.slice(2))
  }
  return lines.join('\n') + '\n'
}

function button(text: string): HTMLButtonElement {
  const b = document.createElement('button')
  b.className = 'small'
  b.textContent = text
  return b
}

function runnable(pre: HTMLElement, path: string): void {
  const run = button('Run against this server')
  run.classList.add('run')
  const out = document.createElement('pre')
  out.setAttribute('aria-live', 'polite')
  out.hidden = true
  out.tabIndex = 0
  const line = document.createElement('p')
  line.append(run)
  pre.parentElement!.after(line, out)
  run.addEventListener('click', async () => {
    out.hidden = false
    out.textContent = '…'
    try {
      const res = await fetch(path)
      const text = await res.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {
        // Not every answer is JSON.
      }
      out.textContent = res.status + '\n' + (shown.length > 4000 ? shown.slice(0, 4000) + '\n…' : shown)
    } catch {
      out.textContent = 'The service did not answer.'
    }
  })
}
