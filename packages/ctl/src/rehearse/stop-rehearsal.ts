import type { EndedRehearsalView } from '@portico/gateway/admin-api'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { askRehearsal, type RehearsalCall } from './ask-rehearsal.ts'

/** Ends the rehearsal of a gateway; returns the exit code. */
export async function stopRehearsal(call: RehearsalCall & { readonly isJson: boolean }, io: Io): Promise<number> {
  const answer = await askRehearsal<EndedRehearsalView>(call, 'end', {})
  if (answer.kind !== 'view') return failWith(answer.kind === 'over' ? answer.why : answer.problem, io)
  const { id, subject, by } = answer.view
  if (call.isJson) io.stdout.write(`${JSON.stringify(answer.view)}\n`)
  else
    io.stderr.write(
      printable(`ended the rehearsal ${id} of the ${subject.kind} ${subject.name}, started by ${by}`) + '\n',
    )
  return exitCode.fine
}
