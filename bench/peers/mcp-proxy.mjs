import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectNode } from '../machine.mjs'
import { installedFolder } from './installed.mjs'

const VERSION = '6.7.19'

/**
 * Its command line serves stdio servers only; its library connects an HTTP server and a client, as its documentation shows.
 * @type {import('./index.mjs').Peer}
 */
export const mcpProxy = {
  name: 'mcp-proxy',
  onlyNamed: true,
  find() {
    const packages = [
      `mcp-proxy@${VERSION}`,
      '@modelcontextprotocol/client@2.4.0',
      '@modelcontextprotocol/server@2.4.0',
    ]
    const folder = installedFolder({ name: 'mcp-proxy', packages, program: 'node_modules/mcp-proxy/package.json' })
    if (!folder) return null
    // The program is written beside its packages, so that it finds them.
    const program = join(folder, 'program.mjs')
    copyFileSync(join(import.meta.dirname, '../mcp-proxy.mjs'), program)
    return { command: projectNode(), args: [program], version: VERSION }
  },
  plan: ({ port, origin }) => ({
    files: {},
    args: [String(port), String(origin)],
    ready: `tcp://127.0.0.1:${port}`,
  }),
}
