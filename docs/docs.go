// Package docs embeds the documentation, which the service also serves at /docs/.
package docs

import "embed"

// Files has every page as Markdown and its pictures, by their paths in this folder.
//
//go:embed *.md decisions/*.md page/*.png
var Files embed.FS
