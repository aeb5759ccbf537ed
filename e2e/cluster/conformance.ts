import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { versionOf, withoutSuite } from './bed/programs.ts'
import { runSuite } from './suite.ts'

/** `npm run conformance [-- FLAG...]`: flags go to the suite; a whole run that passes leaves its report in `docs/conformance/`. */
if (withoutSuite !== false) throw new Error(withoutSuite)
const flags = process.argv.slice(2)
const { code, report } = await runSuite({ flags, isShown: true })
if (code === 0 && flags.length === 0) {
  const folder = fileURLToPath(new URL('../../docs/conformance/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `gateway-api-${versionOf('conformance', 'sigs.k8s.io/gateway-api')}.yaml`), report)
}
process.exitCode = code
