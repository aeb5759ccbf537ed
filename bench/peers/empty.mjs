import { join } from 'node:path'
import { programVersion, projectNode } from '../machine.mjs'

const program = join(import.meta.dirname, '../empty.mjs')

/** @type {import('./index.mjs').Peer} */
export const empty = {
  name: 'empty',
  onlyNamed: true,
  always: true,
  find() {
    const command = projectNode()
    return { command, args: [program], version: `program on Node ${programVersion(command, ['-v'], /v(\S+)/)}` }
  },
  plan: ({ readinessPort, workers }) => ({
    files: {},
    args: [String(readinessPort), String(workers)],
    ready: `http://127.0.0.1:${readinessPort}/`,
  }),
}
