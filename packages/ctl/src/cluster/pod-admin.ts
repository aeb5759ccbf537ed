import type { PortForward } from '@portico/controller/kube'
import type { AdminAddress } from '../trace/admin-address.ts'

/** How long to wait for the node's reason of a failed connection. */
const SAID_WITHIN_MS = 2000

/** The admin server of a Pod, without a port on this machine that other users could reach. */
export function podAdmin(forward: PortForward, { label, port }: { label: string; port: number }): AdminAddress {
  let said: Promise<string | null> = Promise.resolve(null)
  return {
    label,
    connect: {
      host: 'localhost',
      port,
      createConnection(_options, connected) {
        forward.connect(port).then(
          ({ stream, problem }) => {
            said = problem
            connected(null, stream)
          },
          (error: Error) => {
            said = Promise.resolve(error.message)
            connected(error)
          },
        )
      },
    },
    async explain() {
      const { promise: late, resolve } = Promise.withResolvers<null>()
      const timer = setTimeout(() => resolve(null), SAID_WITHIN_MS)
      const problem = await Promise.race([said, late])
      clearTimeout(timer)
      if (problem === null) return null
      return `${label} does not answer on its admin port ${port}: is its admin server off, or elsewhere? (${firstLine(problem)})`
    },
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 300)
}
