interface RowWindow {
  /** First row that is drawn. */
  from: number
  /** One more than the last row that is drawn. */
  to: number
}

/** The rows to draw: those in sight and a few around them, so that a small scroll shows no gap. */
export function rowWindow(scrollTop: number, height: number, rowHeight: number, count: number): RowWindow {
  const first = Math.floor(scrollTop / rowHeight) - AROUND
  const last = Math.ceil((scrollTop + height) / rowHeight) + AROUND
  const to = Math.min(count, Math.max(last, 0))
  return { from: Math.min(Math.max(first, 0), to), to }
}

const AROUND = 8
