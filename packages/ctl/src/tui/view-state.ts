export type DetailMode = 'event' | 'state' | 'diff'

interface ViewState {
  readonly pane: 'list' | 'detail'
  /** The index of the selected event. */
  readonly selected: number
  readonly mode: DetailMode
  /** The first visible line and column of the detail. */
  readonly top: number
  readonly left: number
}

export const firstView: ViewState = { pane: 'list', selected: 0, mode: 'event', top: 0, left: 0 }

export type Move = 'up' | 'down' | 'pageUp' | 'pageDown' | 'home' | 'end' | 'left' | 'right'

/** The size of the content to move in. */
export interface Extent {
  readonly events: number
  readonly listRows: number
  readonly detailLines: number
  readonly detailRows: number
}

const SIDE_STEP = 8

export function switchPane(view: ViewState): ViewState {
  return { ...view, pane: view.pane === 'list' ? 'detail' : 'list' }
}

export function showMode(view: ViewState, mode: DetailMode): ViewState {
  return { ...view, mode, top: 0, left: 0 }
}

/** In the list a move selects, in the detail it scrolls; sideways it always scrolls the detail. */
export function move(view: ViewState, direction: Move, extent: Extent): ViewState {
  if (direction === 'left' || direction === 'right') {
    return { ...view, left: Math.max(0, view.left + (direction === 'left' ? -SIDE_STEP : SIDE_STEP)) }
  }
  if (view.pane === 'detail') {
    const last = Math.max(0, extent.detailLines - extent.detailRows)
    return { ...view, top: step(Math.min(view.top, last), direction, { page: extent.detailRows, last }) }
  }
  const selected = step(view.selected, direction, { page: extent.listRows, last: Math.max(0, extent.events - 1) })
  return selected === view.selected ? view : { ...view, selected, top: 0, left: 0 }
}

/** The first visible row of a list of `count`, of which `rows` fit; the selected row is centered when possible. */
export function firstRow(selected: number, count: number, rows: number): number {
  return Math.max(0, Math.min(selected - Math.floor(rows / 2), count - rows))
}

function step(
  from: number,
  direction: Exclude<Move, 'left' | 'right'>,
  { page, last }: { page: number; last: number },
): number {
  const distances = { up: -1, down: 1, pageUp: -page, pageDown: page, home: -Infinity, end: Infinity }
  return Math.max(0, Math.min(from + distances[direction], last))
}
