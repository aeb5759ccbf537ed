/** One server-sent event record as received, whose data can be replaced. */
export class SseData {
  /** The joined data; empty when the record has none. */
  readonly text: string
  readonly #record: string
  /** Positions of each data line, including its line end, and of the value in it. */
  readonly #lines: readonly { start: number; valueStart: number; valueEnd: number; end: number }[]

  constructor(record: string) {
    this.#record = record
    this.#lines = [...record.matchAll(DATA_LINE)].map((found) => {
      const [line, before = '', value = ''] = found
      const start = found.index
      const valueStart = start + before.length
      return { start, valueStart, valueEnd: valueStart + value.length, end: start + line.length }
    })
    this.text = this.#lines.map(({ valueStart, valueEnd }) => record.slice(valueStart, valueEnd)).join('\n')
  }

  /** Returns the record with other data; all other lines stay. */
  replaced(data: string): string {
    let replaced = ''
    let at = 0
    for (const [index, { start, valueStart, valueEnd, end }] of this.#lines.entries()) {
      const isFirst = index === 0
      replaced += this.#record.slice(at, isFirst ? valueStart : start)
      if (isFirst) replaced += data.replaceAll('\n', '\ndata: ')
      at = isFirst ? valueEnd : end
    }
    return replaced + this.#record.slice(at)
  }
}

/** A byte order mark may precede the first line. */
const DATA_LINE = /(?<=^|[\r\n])(\uFEFF?data(?:: ?|(?=[\r\n]|$)))([^\r\n]*)(?:\r\n|\r|\n|$)/g
