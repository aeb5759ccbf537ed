import type { RequestBatch, RequestList, RequestSummary } from '@portico/gateway/admin-api'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { stopOnSignals } from '../signals.ts'
import { askAdmin } from './ask-admin.ts'
import { followAdmin } from './follow-admin.ts'
import { type FilterValues, queryOf } from './filters.ts'
import { HEAD, requestLine } from './request-line.ts'
import { failWith } from '../fail.ts'

interface ListRequest {
  readonly filters: FilterValues
  readonly limit: string
  readonly token: string | null
  readonly isJson: boolean
}

/** Prints the recorded requests of all gateways, newest first. */
export async function listRequests(admins: readonly AdminAddress[], request: ListRequest, io: Io): Promise<number> {
  const path = `/api/requests${queryOf(request.filters, { limit: request.limit })}`
  const asked = await Promise.all(admins.map((admin) => askAdmin<RequestList>({ admin, token: request.token, path })))
  const answers = asked.flatMap((each) => (each.kind === 'answer' ? [each.value.requests] : []))
  const problems = asked.flatMap((each) => (each.kind === 'problem' ? [each.problem] : []))
  if (answers.length === 0) return failWith(problems[0] ?? 'no requests are recorded there', io)
  for (const problem of problems) io.stderr.write(`porticoctl: ${printable(problem)}\n`)
  const newest = answers
    .flat()
    .toSorted((one, other) => other.at - one.at)
    .slice(0, Number(request.limit))
  if (!request.isJson) io.stdout.write(`${HEAD}\n`)
  for (const each of newest) print(each, request.isJson, io)
  return exitCode.fine
}

function print(request: RequestSummary, isJson: boolean, io: Io): void {
  io.stdout.write(isJson ? `${JSON.stringify(request)}\n` : `${printable(requestLine(request))}\n`)
}

/** Prints requests as they end, until interrupted. */
export async function followRequests(admins: readonly AdminAddress[], request: ListRequest, io: Io): Promise<number> {
  const stop = stopOnSignals()
  // A reader that closes the pipe ends it as well.
  io.stdout.on('error', () => stop.now(exitCode.fine))
  const path = `/api/requests/stream${queryOf(request.filters)}`
  if (!request.isJson) io.stdout.write(`${HEAD}\n`)
  const told = (batch: RequestBatch): void => {
    for (const each of batch.requests) print(each, request.isJson, io)
    if (batch.omitted > 0) io.stderr.write(`… ${batch.omitted} more\n`)
  }
  const ends = await Promise.all(
    admins.map((admin) => followAdmin({ admin, token: request.token, path, signal: stop.signal }, told)),
  )
  if (stop.signal.aborted) return stop.code()
  return failWith(ends.find((end) => end !== null) ?? 'the stream has ended', io)
}
