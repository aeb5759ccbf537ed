import type { Sink, Source } from '@portico/http'

/** Runs a function after a number of milliseconds; returns a function that cancels it. */
export type Later = (ms: number, run: () => void) => () => void

export const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

interface TimedText {
  afterMs: number
  text: string
}

/** A body whose texts come at set times. Time continues while the reader is slow; nothing is dropped. */
export function timedBody(texts: readonly TimedText[], cut: Error | null, after: Later): Source {
  let sink: Sink | null = null
  let at = 0
  let isOver = false
  let isPaused = false
  let callOff: (() => void) | null = null

  function step(): void {
    callOff = null
    const to = sink!
    // All that is due at once leaves at once.
    const due = texts.findIndex(({ afterMs }, index) => index > at && afterMs > 0)
    const next = due === -1 ? texts.length : due
    const text = texts.slice(at, next).map((timed) => timed.text)
    at = next
    to.write(Buffer.from(text.join('')))
    if (isOver) return
    if (at < texts.length) {
      isPaused = !to.flush()
      if (!isPaused && !isOver) wait()
      return
    }
    isOver = true
    if (cut === null) return to.end(null)
    to.flush()
    to.abort(cut)
  }

  function wait(): void {
    callOff = after(texts[at]?.afterMs ?? 0, step)
  }

  return {
    length: -1,
    pipe(to) {
      sink = to
      to.source = this
      wait()
    },
    resume() {
      if (!isPaused || isOver) return
      isPaused = false
      wait()
    },
    cancel() {
      isOver = true
      callOff?.()
    },
  }
}
