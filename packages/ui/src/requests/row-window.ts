export interface RowWindow {
  /** First row that is drawn. */
  from: number
  /** Behind the last one. */
  to: number
}

/** Rows that are drawn: what is seen, and a few around it, so that a small scroll shows no gap. */
export function rowWindow(scrollTop: number, height: number, rowHeight: number, count: number): RowWindow {
  const first = Math.floor(scrollTop / rowHeight) - AROUND
  const last = Math.ceil((scrollTop + height) / rowHeight) + AROUND
  const to = Math.min(count, Math.max(last, 0))
  return { from: Math.min(Math.max(first, 0), to), to }
}

const AROUND = 8
