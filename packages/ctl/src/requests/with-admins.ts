import type { ClusterArguments } from '../cluster/options.ts'
import { failWith } from '../fail.ts'
import type { Io } from '../io.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import type { Source } from '../trace/source.ts'

interface AdminsRequest extends ClusterArguments {
  readonly from: Source
}

/** Runs a task with the admin servers of a gateway, or of all Pods of a Gateway; returns the exit code. */
export async function withAdmins(
  request: AdminsRequest,
  io: Io,
  work: (admins: readonly AdminAddress[]) => Promise<number>,
): Promise<number> {
  // A reader such as `head` may close the pipe.
  io.stdout.on('error', () => {})
  if (request.from.kind === 'local') return work([request.from.admin])
  // The cluster client is loaded only when needed.
  const { ClusterProblem, openGateway } = await import('../cluster/index.ts')
  try {
    const open = await openGateway({ ...request, gateway: request.from.name, onePod: false }, io.env)
    try {
      return await work(open.admins)
    } finally {
      await open.close()
    }
  } catch (error) {
    if (!(error instanceof ClusterProblem)) throw error
    return failWith(error.message, io)
  }
}
