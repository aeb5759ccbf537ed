import { render } from 'ink'
import { createElement as h } from 'react'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { type Stop, stopOnSignals } from '../signals.ts'
import { type CurlEnd, curlProblem, type Injection } from '../trace/curl.ts'
import type { TraceRequest } from '../trace/plan.ts'
import { runTrace, type TraceOutcome } from '../trace/session.ts'
import { App } from './app.ts'
import { themeFor } from './theme.ts'
import { createTraceStore, type TraceStore } from './trace-store.ts'

/** Shows the trace in the terminal UI until the user closes it. */
export async function traceToScreen(request: TraceRequest, io: Io): Promise<number> {
  const stop = stopOnSignals()
  const store = createTraceStore(request.injection === null ? 'waiting for the next request' : 'sending the request')
  const ui: { screen: Screen | null } = { screen: null }
  const outcome = await runTrace(
    { ...request, mayReadInput: false },
    {
      armed(problems) {
        for (const problem of problems) store.setStatus(printable(problem), true)
        ui.screen ??= openScreen({ request, store, io, stop })
      },
      event: (event) => store.add(event),
    },
    stop.signal,
  )
  showOutcome(outcome, { store, request })
  // Without events there is nothing to show.
  const isWorthALook = !stop.signal.aborted && store.snapshot().events.length > 0
  await ui.screen?.finish({ atOnce: !isWorthALook })
  if (outcome.kind !== 'broken' && outcome.kind !== 'failed') return stop.code()
  io.stderr.write(`porticoctl: ${printable(outcome.problem)}\n`)
  return stop.code() === exitCode.fine ? exitCode.failed : stop.code()
}

interface Screen {
  /** Resolves when the terminal is restored. */
  finish(how: { atOnce: boolean }): Promise<void>
}

interface ScreenOptions {
  request: TraceRequest
  store: TraceStore
  io: Io
  stop: Stop
}

function openScreen({ request, store, io, stop }: ScreenOptions): Screen {
  const title = `porticoctl trace  ${request.label}${request.injection === null ? '' : `  ${printable(request.injection.url)}`}`
  const app = render(h(App, { title, store, theme: themeFor(io.env) }), {
    stdin: io.stdin,
    stdout: io.stdout,
    stderr: io.stderr,
    alternateScreen: true,
    exitOnCtrlC: false,
    // The caller has checked the streams, so a variable named CI does not turn the UI off.
    interactive: true,
  })
  stop.signal.addEventListener('abort', () => app.unmount())
  const left = app.waitUntilExit().then((reason) => {
    stop.now(reason === 'interrupt' ? exitCode.interrupted : exitCode.fine)
  })
  return {
    finish({ atOnce }) {
      if (atOnce) app.unmount()
      return left
    },
  }
}

function showOutcome(outcome: TraceOutcome, { store, request }: { store: TraceStore; request: TraceRequest }): void {
  const { injection } = request
  const curl = outcome.curl === null || injection === null ? '' : `; ${curlNote(outcome.curl, injection)}`
  if (outcome.kind === 'finished') store.setStatus(`request finished${curl}`)
  else if (outcome.kind !== 'stopped') store.setStatus(printable(outcome.problem), true)
}

function curlNote(end: CurlEnd, injection: Injection): string {
  const problem = curlProblem(end, injection)
  if (problem !== null) return printable(problem)
  return end.kind === 'missing'
    ? ''
    : `curl got its response (${end.output.length}${end.isCut ? ' or more' : ''} bytes)`
}
