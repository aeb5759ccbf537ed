import { exitCode, type Io } from '../io.ts'
import { printable, printableBlock } from '../printable.ts'
import { stopOnSignals } from '../signals.ts'
import { type CurlEnd, isComplaint } from './curl.ts'
import type { TraceEvent } from './event.ts'
import { compactJson } from './json-lines.ts'
import type { TraceRequest } from './plan.ts'
import { runTrace } from './session.ts'
import { summarize } from './summary.ts'

/**
 * Prints the trace on standard output as JSON Lines, or as one plain line per event. Everything else goes to standard
 * error.
 */
export async function traceToLines(request: TraceRequest, { io, isRaw }: { io: Io; isRaw: boolean }): Promise<number> {
  const stop = stopOnSignals()
  // A reader such as `head` that closes the pipe ends the trace.
  io.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') io.stderr.write(`porticoctl: cannot write the trace: ${error.message}\n`)
    stop.now(error.code === 'EPIPE' ? exitCode.fine : exitCode.failed)
  })
  let count = 0
  const outcome = await runTrace(
    { ...request, mayReadInput: true },
    {
      armed(problems) {
        for (const problem of problems) io.stderr.write(`porticoctl: ${printable(problem)}\n`)
        if (request.injection === null) io.stderr.write(`${request.label}: waiting for the next request\n`)
      },
      event(event) {
        count++
        io.stdout.write(`${isRaw ? rawLine(event, io.stdout.isTTY) : plainLine(count, event)}\n`)
      },
    },
    stop.signal,
  )
  // The message of a failed trace already contains the errors of curl.
  if (outcome.curl !== null) printCurl(outcome.curl, { io, withComplaints: outcome.kind !== 'failed' })
  switch (outcome.kind) {
    case 'finished':
      return exitCode.fine
    case 'stopped':
      return stop.code()
    case 'broken':
    case 'failed':
      io.stderr.write(`porticoctl: ${printable(outcome.problem)}\n`)
      return exitCode.failed
  }
}

/** Formats an event: `  4  routeSelection       selected "api" (2 evaluated)`. */
export function plainLine(number: number, event: TraceEvent): string {
  return `${String(number).padStart(3)}  ${printable(event.type).padEnd(19)}  ${printable(summarize(event))}`
}

/** The event as received; on a terminal control characters are escaped, which JSON readers undo. */
export function rawLine({ json, value }: TraceEvent, isTerminal: boolean): string {
  const line = /[\r\n]/.test(json) ? compactJson(value) : json
  return isTerminal ? printable(line) : line
}

function printCurl(end: CurlEnd, { io: { stderr }, withComplaints }: { io: Io; withComplaints: boolean }): void {
  if (end.kind === 'missing') return
  if (stderr.isTTY) stderr.write(printableBlock(end.output.toString()))
  else stderr.write(end.output)
  if (end.output.length > 0 && end.output.at(-1) !== 0x0a) stderr.write('\n')
  if (end.isCut) stderr.write('porticoctl: the rest of the output of curl was dropped\n')
  const lines = end.errors.trimEnd().split('\n')
  const errors = lines.filter((line) => withComplaints || !isComplaint(line)).join('\n')
  if (errors !== '') stderr.write(`${stderr.isTTY ? printableBlock(errors) : errors}\n`)
}
