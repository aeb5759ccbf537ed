import type { Sink, Source } from './body.ts'
import type { HeaderBlock } from '../fields/header-block.ts'

/** A body that is forwarded unchanged. Subclasses observe or change parts of it. */
export class ThroughBody implements Source, Sink {
  source: Source | null = null
  protected readonly body: Source
  protected sink: Sink | null = null

  constructor(body: Source) {
    this.body = body
  }

  get length(): number {
    return this.body.length
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.sink = sink
    this.body.pipe(this)
  }

  resume(): void {
    this.body.resume()
  }

  cancel(cause: Error): void {
    this.body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.sink?.write(chunk)
  }

  flush(): boolean {
    return this.sink?.flush() ?? true
  }

  end(trailers: HeaderBlock | null): void {
    this.sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.sink?.abort(cause)
  }
}
