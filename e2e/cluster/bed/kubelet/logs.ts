import type { Readable } from 'node:stream'

interface LogLine {
  at: number
  text: string
}

/** The last lines that a container has printed. */
export class Logs {
  #lines: LogLine[] = []
  readonly #followers = new Set<(line: LogLine) => void>()

  read(stream: Readable): void {
    let rest = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) this.#add({ at: Date.now(), text })
    })
    stream.on('end', () => rest !== '' && this.#add({ at: Date.now(), text: rest }))
  }

  lines(since = 0, most = Infinity): readonly LogLine[] {
    const lines = this.#lines.filter(({ at }) => at >= since)
    return most === Infinity ? lines : lines.slice(Math.max(0, lines.length - most))
  }

  /** Calls back for every line from now on; the result ends that. */
  follow(follower: (line: LogLine) => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  #add(line: LogLine): void {
    this.#lines.push(line)
    if (this.#lines.length > MOST) this.#lines = this.#lines.slice(MOST / 2)
    for (const follower of this.#followers) follower(line)
  }
}

const MOST = 20_000
