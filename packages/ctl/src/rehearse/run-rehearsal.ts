import { setTimeout as sleep } from 'node:timers/promises'
import type { RehearsalView } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { followAdmin } from '../requests/follow-admin.ts'
import { type Stop, stopOnSignals } from '../signals.ts'
import { askRehearsal, type RehearsalCall } from './ask-rehearsal.ts'
import { type SeenResult, Tally } from './tally.ts'

interface RehearsalRun extends RehearsalCall {
  readonly isJson: boolean
  /** The request body that starts the rehearsal. */
  readonly plan: Readonly<Record<string, unknown>>
}

/** Runs a rehearsal until its end, and prints the responses that clients saw; returns the exit code. */
export async function runRehearsal(run: RehearsalRun, io: Io): Promise<number> {
  const stop = stopOnSignals()
  io.stdout.on('error', () => stop.now(exitCode.fine))
  const tally = new Tally()
  const watch = await startWatch(run, tally)
  const askedAt = performance.now()
  const started = await askRehearsal(run, 'start', run.plan)
  if (started.kind !== 'view') {
    await watch.end()
    return failWith(started.kind === 'over' ? started.why : started.problem, io)
  }
  const { view } = started
  io.stderr.write(`${printable(beginText(view))}\n`)
  const early = await keepAlive(run, view, { askedAt, stop, tally, io })
  // The gateway's stream reports requests with a delay, so the count waits for the last requests.
  await sleep(LAST_REQUESTS_MS)
  const unwatched = await watch.end()
  report({ run, view, tally }, early, io)
  if (unwatched !== null) io.stderr.write(`porticoctl: the report is not complete: ${printable(unwatched)}\n`)
  if (early !== null) return failWith(early, io)
  return stop.code()
}

/**
 * Starts to count rehearsed requests; resolves when the gateway has opened or refused its stream. `end` resolves with
 * the reason why the count is incomplete, or null.
 */
async function startWatch(run: RehearsalRun, tally: Tally): Promise<{ end: () => Promise<string | null> }> {
  const watching = new AbortController()
  const opened = Promise.withResolvers<void>()
  const watched = followAdmin(
    { ...run, path: '/api/requests/stream?rehearsal=true', signal: watching.signal, opened: opened.resolve },
    ({ requests, omitted }) => tally.add(requests, omitted),
  )
  await Promise.race([opened.promise, watched])
  return {
    end() {
      watching.abort()
      return watched
    },
  }
}

interface RehearsalWatch {
  /**
   * The time of the start request, on the clock of `performance.now`. The rehearsal starts between the request and its
   * response.
   */
  readonly askedAt: number
  readonly stop: Stop
  readonly tally: Tally
  readonly io: Io
}

/** Renews the lease until the rehearsal ends; returns the reason of an early end, or null. */
async function keepAlive(
  call: RehearsalRun,
  { id, leaseMs, endsAt, startedAt }: RehearsalView,
  watched: RehearsalWatch,
) {
  const { askedAt, stop, tally, io } = watched
  // The clocks of gateway and porticoctl may differ, so only the duration of the rehearsal is used.
  const until = performance.now() + (endsAt - startedAt)
  let told = 0
  for (let turn = 1; !stop.signal.aborted; turn++) {
    const left = until - performance.now()
    if (left <= 0) return null
    await sleep(Math.min(left, leaseMs / 3), undefined, { signal: stop.signal }).catch(() => undefined)
    if (stop.signal.aborted || performance.now() >= until) break
    const renewed = await askRehearsal(call, 'renew', { id })
    if (renewed.kind === 'over' && performance.now() - askedAt >= endsAt - startedAt) return null
    // A failed renewal ends the loop, because the rehearsal has ended or its lease runs out soon.
    if (renewed.kind !== 'view') return renewed.kind === 'over' ? renewed.why : renewed.problem
    if (turn % TURNS_PER_LINE === 0 && tally.requests > told) {
      told = tally.requests
      if (!call.isJson) io.stderr.write(`${printable(summaryText(tally.results()))}\n`)
    }
  }
  const ended = await askRehearsal(call, 'end', { id })
  return ended.kind === 'problem'
    ? `the gateway ends the rehearsal by itself within ${leaseMs / 1000} s: ${ended.problem}`
    : null
}

interface RehearsalOutcome {
  readonly run: RehearsalRun
  readonly view: RehearsalView
  readonly tally: Tally
}

function report({ run, view, tally }: RehearsalOutcome, early: string | null, io: Io): void {
  const results = tally.results()
  const { requests, omitted } = tally
  if (run.isJson) {
    const { id, subject, percentage, delayMs, status } = view
    const rehearsal = { id, subject, percentage, delayMs, status }
    io.stdout.write(`${JSON.stringify({ rehearsal, requests, omitted, results, endedEarly: early })}\n`)
    return
  }
  if (requests === 0) {
    io.stdout.write('no request was rehearsed: none came, or the share of the calls is small\n')
  } else {
    const lines = results.map(({ status, outcome, requests: count, medianMs, longestMs }) => [
      `${count}`,
      status === 0 ? '-' : `${status}`,
      outcome,
      `${medianMs} ms`,
      `${longestMs} ms`,
    ])
    io.stdout.write(tableText([['REQUESTS', 'STATUS', 'OUTCOME', 'MEDIAN', 'LONGEST'], ...lines]))
  }
  if (omitted > 0) io.stdout.write(`${omitted} more were left out of the stream\n`)
}

function beginText({ id, subject, percentage, delayMs, status, endsAt, startedAt, routes }: RehearsalView): string {
  const what = [
    ...(delayMs === null ? [] : [`wait ${delayMs} ms`]),
    ...(status === null ? [] : [`get status ${status}`]),
  ].join(' and ')
  const calls = subject.kind === 'backend' ? `the backend ${subject.name}` : `the backends of the route ${subject.name}`
  const on = `on ${routes.length} ${routes.length === 1 ? 'route' : 'routes'}`
  const seconds = Math.round((endsAt - startedAt) / 1000)
  return `rehearsal ${id}: ${percentage} % of the calls to ${calls} ${what} for ${seconds} s, ${on}; Ctrl-C ends it`
}

function summaryText(results: readonly SeenResult[]): string {
  const parts = results.map(
    ({ status, outcome, requests }) => `${requests} × ${status === 0 ? outcome : `${status} ${outcome}`}`,
  )
  return `clients saw ${parts.join(', ')}`
}

function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

const TURNS_PER_LINE = 3
const LAST_REQUESTS_MS = 300
