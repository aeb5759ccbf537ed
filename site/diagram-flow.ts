import type { Diagram, DiagramArrow } from './diagram.ts'
import { arrow, box, type Rectangle, svg, text, widthOf } from './svg.ts'

const BOX_HEIGHT = 48
const BETWEEN_ROWS = 28
const MARGIN = 8

/** Columns from left to right: each box stands behind all boxes with an arrow to it. */
export function drawFlow({ title, boxes, arrows }: Diagram): string {
  const columnByName = columnsOf(
    boxes.map(({ name }) => name),
    arrows,
  )
  const columns = Object.values(Object.groupBy(boxes, ({ name }) => columnByName.get(name) ?? 0)).map(
    (all) => all ?? [],
  )
  const rows = Math.max(...columns.map(({ length }) => length))
  const height = rows * (BOX_HEIGHT + BETWEEN_ROWS) - BETWEEN_ROWS + 2 * MARGIN
  const placeByName = new Map<string, Rectangle>()
  let x = MARGIN
  for (const [index, column] of columns.entries()) {
    const width =
      Math.max(
        ...column.map(({ lines: [first = '', second = ''] }) => Math.max(widthOf(first, 13), widthOf(second, 11))),
      ) + 24
    const columnHeight = column.length * (BOX_HEIGHT + BETWEEN_ROWS) - BETWEEN_ROWS
    for (const [row, { name }] of column.entries()) {
      const y = (height - columnHeight) / 2 + row * (BOX_HEIGHT + BETWEEN_ROWS)
      placeByName.set(name, { x, y, width, height: BOX_HEIGHT })
    }
    const leaving = arrows.filter(({ from }) => columnByName.get(from) === index)
    x += width + Math.max(44, ...leaving.map(({ label }) => widthOf(label, 11) + 26))
  }
  const last = [...placeByName.values()].map((place) => place.x + place.width)
  const drawn = arrows.map((one) => drawArrow(one, placeByName))
  const shapes = boxes.map(({ name, lines }) => box(placeByName.get(name) ?? fail(name), lines))
  return svg(title, Math.max(...last) + MARGIN, height, [...shapes, ...drawn])
}

function drawArrow({ from, to, label, isTwoWay }: DiagramArrow, placeByName: ReadonlyMap<string, Rectangle>): string {
  const [source, target] = [placeByName.get(from) ?? fail(from), placeByName.get(to) ?? fail(to)]
  const start = { x: source.x + source.width, y: source.y + source.height / 2 }
  const end = { x: target.x, y: target.y + target.height / 2 }
  const labelAt = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 - 6 }
  return arrow(start, end, isTwoWay) + (label === '' ? '' : text(label, labelAt.x, labelAt.y, 'label'))
}

/** The length of the longest way to each box. */
function columnsOf(names: readonly string[], arrows: readonly DiagramArrow[]): Map<string, number> {
  const columnByName = new Map(names.map((name) => [name, 0]))
  for (const _ of names) {
    for (const { from, to } of arrows) {
      columnByName.set(to, Math.max(columnByName.get(to) ?? 0, (columnByName.get(from) ?? 0) + 1))
    }
  }
  if (Math.max(...columnByName.values()) >= names.length) throw new Error('arrows of a flow lead in a circle')
  return columnByName
}

function fail(name: string): never {
  throw new Error(`there is no box ${name}`)
}
