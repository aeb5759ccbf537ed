import { join } from 'node:path'
import { programVersion, projectNode } from '../machine.mjs'

const program = join(import.meta.dirname, '../forwarder.mjs')

/** @type {import('./index.mjs').Peer} */
export const forwarder = {
  name: 'forwarder',
  onlyNamed: true,
  find() {
    const command = projectNode()
    return { command, args: [program], version: `of bytes on Node ${programVersion(command, ['-v'], /v(\S+)/)}` }
  },
  plan: ({ port, origin }) => ({ files: {}, args: [String(port), String(origin)] }),
}
