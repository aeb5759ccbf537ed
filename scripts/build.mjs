// Bundles the programs into `dist` of their packages: the gateway's main thread and its workers; porticoctl, and apart
// from it what only its terminal UI needs.
import { bundle } from './bundle.mjs'
import { programs } from './programs.mjs'

for (const name of Object.keys(programs)) await bundle(name, new URL(`../packages/${name}/dist/`, import.meta.url))
