/** Cuts a stream of server-sent events into the data of its events. Comments, which only say that it lives, are left out. */
export class EventReader {
  #rest = ''

  /** The data of each event that is complete now. */
  read(text: string): string[] {
    const parts = (this.#rest + text).split('\n\n')
    this.#rest = parts.pop() ?? ''
    return parts.map(dataOf).filter((data) => data !== null)
  }
}

function dataOf(event: string): string | null {
  const lines = event.split('\n').filter((line) => line.startsWith('data:'))
  if (lines.length === 0) return null
  return lines.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n')
}
