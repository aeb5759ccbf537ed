import type { Diagram } from './diagram.ts'
import { arrow, box, svg, text, widthOf } from './svg.ts'

const BOX_HEIGHT = 44
const STEP = 40
const MARGIN = 8

/** Boxes stand in a row; arrows follow one another downwards. */
export function drawSequence({ title, boxes, arrows }: Diagram): string {
  const indexByName = new Map(boxes.map(({ name }, index) => [name, index]))
  const indexOf = (name: string): number => indexByName.get(name) ?? 0
  const longest = Math.max(
    ...arrows.map(({ from, to, label }) => widthOf(label, 11) / span(indexOf(from), indexOf(to))),
  )
  const boxWidth = Math.max(...boxes.flatMap(({ lines }) => lines.map((line) => widthOf(line, 13)))) + 24
  const distance = Math.max(longest + 28, boxWidth + 32)
  const centerOf = (index: number): number => MARGIN + boxWidth / 2 + index * distance
  const height = BOX_HEIGHT + STEP * (arrows.length + 1)
  const width = centerOf(boxes.length - 1) + boxWidth / 2 + MARGIN
  const columns = boxes.map(({ lines }, index) => {
    const x = centerOf(index)
    const life = `<path class="life" d="M${x} ${MARGIN + BOX_HEIGHT}V${height}"/>`
    return life + box({ x: x - boxWidth / 2, y: MARGIN, width: boxWidth, height: BOX_HEIGHT }, lines)
  })
  const steps = arrows.map(({ from, to, label, isTwoWay }, index) => {
    const y = BOX_HEIGHT + MARGIN + STEP * (index + 1)
    const [start, end] = [centerOf(indexOf(from)), centerOf(indexOf(to))]
    return arrow({ x: start, y }, { x: end, y }, isTwoWay) + text(label, (start + end) / 2, y - 7, 'label')
  })
  return svg(title, Math.ceil(width), Math.ceil(height + MARGIN), [...columns, ...steps])
}

function span(from: number, to: number): number {
  return Math.max(1, Math.abs(from - to))
}
