/** Parts of pictures. Colors are classes: the file brings those of both color schemes, the site has its own. */

const STYLE = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .box { fill: #f6f8fa; stroke: #8c959f }
    .small { font-size: 11px; fill: #59636e }
    .label { font-size: 11px; fill: #59636e; paint-order: stroke; stroke: #fff; stroke-width: 4px }
    .line { stroke: #59636e; fill: none }
    .life { stroke: #d1d9e0; stroke-dasharray: 4 4 }
    .head { fill: #59636e }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .box { fill: #151b23; stroke: #656c76 }
      .small { fill: #9198a1 }
      .label { fill: #9198a1; stroke: #0d1117 }
      .line { stroke: #9198a1 }
      .life { stroke: #3d444d }
      .head { fill: #9198a1 }
    }`

/** The width that a line of text takes at most, in pixels. */
export function widthOf(text: string, size: number): number {
  return Math.ceil(text.length * size * 0.56)
}

export function svg(title: string, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escape(title)}</title>
  <style>${STYLE}
  </style>
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`
}

export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** A box with one line of text, or with a second, smaller one. */
export function box({ x, y, width, height }: Rectangle, [first = '', second]: readonly string[]): string {
  const middle = x + width / 2
  const center = y + height / 2
  const shape = `<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`
  if (second === undefined) return shape + text(first, middle, center + 4.5)
  return shape + text(first, middle, center - 3) + text(second, middle, center + 14, 'small')
}

export function text(words: string, x: number, y: number, className?: string): string {
  const named = className === undefined ? '' : ` class="${className}"`
  return `<text${named} x="${x}" y="${y}" text-anchor="middle">${escape(words)}</text>`
}

/** A straight line with a head at its end, and at its start where it leads both ways. */
export function arrow(from: Point, to: Point, isTwoWay: boolean): string {
  const line = `<path class="line" d="M${from.x} ${from.y}L${to.x} ${to.y}"/>`
  return line + head(from, to) + (isTwoWay ? head(to, from) : '')
}

interface Point {
  x: number
  y: number
}

function head(from: Point, { x, y }: Point): string {
  const angle = Math.round((Math.atan2(y - from.y, x - from.x) * 180) / Math.PI)
  return `<path class="head" transform="translate(${x} ${y}) rotate(${angle})" d="M0 0L-8 -4L-8 4Z"/>`
}

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
