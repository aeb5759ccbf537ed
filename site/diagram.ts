import { drawFlow } from './diagram-flow.ts'
import { drawSequence } from './diagram-sequence.ts'

/**
 * Draws a picture from a small text. The first line names the kind and the title (`flow: …`, `sequence: …`); then come
 * boxes (`name: Label | second line`) and arrows (`a -> b: label`, `a <-> b: label`), one on each line.
 */
export interface Diagram {
  title: string
  boxes: readonly DiagramBox[]
  arrows: readonly DiagramArrow[]
}

interface DiagramBox {
  name: string
  /** One or two lines. */
  lines: readonly string[]
}

export interface DiagramArrow {
  from: string
  to: string
  isTwoWay: boolean
  label: string
}

export function drawDiagram(text: string): string {
  const [head = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '')
  const [, kind, title = ''] = /^(flow|sequence): (.+)$/.exec(head) ?? []
  const boxes: DiagramBox[] = []
  const arrows: DiagramArrow[] = []
  for (const line of lines) {
    const [, from, arrow, to, label = ''] = /^(\w+) (<?->) (\w+)(?:: (.+))?$/.exec(line) ?? []
    const [, name, words = ''] = /^(\w+): (.+)$/.exec(line) ?? []
    if (from !== undefined && to !== undefined) arrows.push({ from, to, label, isTwoWay: arrow === '<->' })
    else if (name !== undefined) boxes.push({ name, lines: words.split(' | ') })
    else throw new Error(`not a box and not an arrow: ${line}`)
  }
  const known = new Set(boxes.map(({ name }) => name))
  for (const { from, to } of arrows) {
    if (!known.has(from) || !known.has(to)) throw new Error(`an arrow between unknown boxes: ${from} -> ${to}`)
  }
  const diagram = { title, boxes, arrows }
  if (kind === 'flow') return drawFlow(diagram)
  if (kind === 'sequence') return drawSequence(diagram)
  throw new Error(`the first line is neither \`flow: …\` nor \`sequence: …\`: ${head}`)
}
