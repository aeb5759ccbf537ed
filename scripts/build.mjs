// Bundles the programs into `dist` of their packages: the gateway's main thread and workers; porticoctl, with its terminal
// UI as a separate chunk; and the web UI, beside the gateway. `npm run build -- gateway` bundles one of them.
import { bundle } from './bundle.mjs'
import { buildUi } from './build-ui.mjs'
import { programs } from './programs.mjs'

const [only] = process.argv.slice(2)
const names = Object.keys(programs).filter((name) => only === undefined || name === only)
if (names.length === 0) throw new Error(`there is no program ${only}`)
for (const name of names) await bundle(name, new URL(`../packages/${name}/dist/`, import.meta.url))
if (names.includes('gateway')) await buildUi(new URL('../packages/gateway/dist/ui/', import.meta.url))
