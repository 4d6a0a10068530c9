// Package docs embeds the documentation, which the service also serves at /docs/.
package docs

import "embed"

// Files has every page as Markdown, by its path in this folder.
//
//go:embed *.md decisions/*.md
var Files embed.FS
