import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../../packages/gateway/package.json' with { type: 'json' }
import { supportedFeatures } from '../../packages/translate/src/translate/supported-features.ts'
import { startBed } from './bed/bed.ts'
import { CONFORMANCE, versionOf, withoutSuite } from './bed/programs.ts'
import { install, ownImages } from './installed.ts'

/**
 * `npm run conformance [-- FLAG...]`: the official suite of the Gateway API before the controller in a bed. Flags go to the
 * suite (`-run-test HTTPRouteWeight`); a whole run that passes leaves its report in `docs/conformance/`.
 */

const PROFILES = ['GATEWAY-HTTP', 'GATEWAY-GRPC', 'GATEWAY-TLS']
const REPORTS = fileURLToPath(new URL('../../docs/conformance/', import.meta.url))

if (withoutSuite !== false) throw new Error(withoutSuite)
const flags = process.argv.slice(2)
const bed = await startBed({ images: ownImages() })
try {
  await install(bed)
  const report = join(bed.folder, 'report.yaml')
  const [program = '', ...words] = bed.enter([join(CONFORMANCE, 'conformance.test'), ...suiteFlags(report), ...flags])
  const suite = spawn(program, words, { env: { ...process.env, ...bed.environment }, stdio: 'inherit' })
  const [code] = (await once(suite, 'exit')) as [number | null]
  if (code === 0 && flags.length === 0) {
    mkdirSync(REPORTS, { recursive: true })
    const version = versionOf('conformance', 'sigs.k8s.io/gateway-api')
    copyFileSync(report, join(REPORTS, `gateway-api-${version}.yaml`))
  }
  process.exitCode = code ?? 1
} finally {
  await bed.stop()
}

function suiteFlags(report: string): string[] {
  const values = {
    'gateway-class': 'portico',
    'conformance-profiles': PROFILES.join(','),
    'supported-features': supportedFeatures.join(','),
    organization: 'portico',
    project: 'portico',
    url: 'https://portico.dev',
    version: manifest.version,
    contact: 'https://portico.dev',
    // The last that load balancers of the bed have, and one that they have not.
    'usable-address': '10.97.0.200',
    'unusable-address': '203.0.113.1',
    'report-output': report,
  }
  const named = Object.entries(values).map(([name, value]) => `-${name}=${value}`)
  return ['-test.v', '-test.timeout=60m', '-cleanup-base-resources=false', ...named]
}
