import { join } from 'node:path'
import { projectNode } from '../machine.mjs'
import { installedFolder } from './installed.mjs'

const VERSION = '1.15.2'
const PROGRAM = 'node_modules/@portkey-ai/gateway/build/start-server.js'

/**
 * Another gateway of language models on Node.
 * @type {import('./index.mjs').Peer}
 */
export const portkey = {
  name: 'portkey',
  onlyNamed: true,
  find() {
    const folder = installedFolder({ name: 'portkey', packages: [`@portkey-ai/gateway@${VERSION}`], program: PROGRAM })
    return folder && { command: projectNode(), args: [join(folder, PROGRAM)], version: VERSION }
  },
  plan: ({ port }) => ({
    files: {},
    args: ['--headless', `--port=${port}`],
    env: { NODE_ENV: 'production' },
    ready: `http://127.0.0.1:${port}/`,
  }),
  // Portkey has no config: headers of each request name the target.
  headers: ({ origin }) => ({
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${origin}/v1`,
    authorization: 'Bearer key-of-the-client',
  }),
}
