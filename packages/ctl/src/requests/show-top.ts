import type { RequestBatch } from '@portico/gateway/admin-api'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { stopOnSignals } from '../signals.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { followAdmin } from './follow-admin.ts'
import { TopTable } from './top-table.ts'
import { failWith } from '../fail.ts'

interface TopRequest {
  readonly windowMs: number
  readonly isOnce: boolean
  readonly token: string | null
}

const CLEAR = '\u001b[H\u001b[2J'

/** Prints the table until interrupted: each second on a terminal, otherwise at the end of each window. */
export async function showTop(
  admins: readonly AdminAddress[],
  { windowMs, isOnce, token }: TopRequest,
  io: Io,
): Promise<number> {
  const stop = stopOnSignals()
  io.stdout.on('error', () => stop.now(exitCode.fine))
  const table = new TopTable(windowMs)
  const isLive = io.stdout.isTTY && !isOnce
  const draw = (): void => {
    const lines = table.lines().map(printable)
    const shown = isLive ? fitLines(lines, io.stdout) : lines
    io.stdout.write(`${isLive ? CLEAR : ''}${shown.join('\n')}\n${isLive ? '' : '\n'}`)
    if (isOnce) stop.now(exitCode.fine)
  }
  if (isLive) draw()
  const drawing = setInterval(draw, isLive ? 1000 : windowMs)
  const told = (batch: RequestBatch): void => table.take(batch.requests, batch.omitted)
  const adminRequest = { token, path: '/api/requests/stream', signal: stop.signal }
  const ends = await Promise.all(admins.map((admin) => followAdmin({ ...adminRequest, admin }, told)))
  clearInterval(drawing)
  if (stop.signal.aborted) return stop.code()
  return failWith(ends.find((end) => end !== null) ?? 'the stream has ended', io)
}

/** Cuts lines to the terminal, because a wrapped or extra line would scroll the heading away. */
function fitLines(lines: readonly string[], { rows, columns }: Io['stdout']): string[] {
  return lines.slice(0, Math.max(2, (rows ?? 24) - 1)).map((line) => line.slice(0, Math.max(10, columns ?? 80)))
}
