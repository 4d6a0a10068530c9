import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

export default defineConfig({
  // Views are made anew for each address, so the first value of a property is its only one.
  plugins: [svelte({ onwarn: (w, report) => w.code === 'state_referenced_locally' || report(w) })],
  base: '/',
  build: {
    outDir: '../internal/web/dist',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    rollupOptions: { input: { app: 'src/main.ts', docs: 'src/docs.ts' } },
  },
})
