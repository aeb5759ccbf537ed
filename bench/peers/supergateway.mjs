import { join } from 'node:path'
import { projectNode } from '../machine.mjs'
import { MCP_PATH } from '../tool-call.mjs'
import { installedFolder } from './installed.mjs'

const VERSION = '4.0.0'
const PROGRAM = 'node_modules/supergateway/dist/index.js'

/**
 * It turns one transport into another, and HTTP into HTTP only by way of stdio: two of them, the inner one for each session.
 * @type {import('./index.mjs').Peer}
 */
export const supergateway = {
  name: 'supergateway',
  onlyNamed: true,
  find() {
    const folder = installedFolder({ name: 'supergateway', packages: [`supergateway@${VERSION}`], program: PROGRAM })
    return folder && { command: projectNode(), args: [join(folder, PROGRAM)], version: VERSION }
  },
  plan({ port, origin, found }) {
    const inner = [found.command, ...found.args, '--streamableHttp', `http://127.0.0.1:${origin}${MCP_PATH}`]
    return {
      files: {},
      args: [
        ...['--stdio', [...inner, '--logLevel', 'none'].join(' ')],
        ...['--outputTransport', 'streamableHttp', '--stateful', '--port', String(port), '--logLevel', 'none'],
      ],
      ready: `tcp://127.0.0.1:${port}`,
    }
  },
}
