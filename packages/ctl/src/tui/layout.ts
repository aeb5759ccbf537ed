interface Layout {
  readonly direction: 'row' | 'column'
  readonly list: { readonly width: number; readonly height: number }
  readonly detail: { readonly width: number; readonly height: number }
}

export const smallest = { columns: 40, rows: 12 }

/** Rows of a pane's two borders and its heading. */
const FRAME_ROWS = 3
/** Rows of title, status and keys. */
const OTHER_ROWS = 3
const SIDE_BY_SIDE_FROM = 110

/** Returns null when the terminal is too small. */
export function layoutFor({ columns, rows }: { columns: number; rows: number }): Layout | null {
  if (columns < smallest.columns || rows < smallest.rows) return null
  const height = rows - OTHER_ROWS
  if (columns >= SIDE_BY_SIDE_FROM) {
    const width = Math.floor(columns * 0.55)
    return { direction: 'row', list: { width, height }, detail: { width: columns - width, height } }
  }
  const upper = Math.ceil(height / 2)
  return {
    direction: 'column',
    list: { width: columns, height: upper },
    detail: { width: columns, height: height - upper },
  }
}

export function rowsIn(pane: { readonly height: number }): number {
  return pane.height - FRAME_ROWS
}
