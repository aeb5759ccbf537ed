/** `EventReader` splits a stream of server-sent events into the data of its events. Comments are dropped. */
export class EventReader {
  #rest = ''

  /** `read` returns the data of each event that the text completes. */
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
