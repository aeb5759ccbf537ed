import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../packages/gateway/package.json' with { type: 'json' }
import { supportedFeatures } from '../../packages/translate/src/translate/listeners/supported-features.ts'
import { type BedOptions, startBed } from './bed/bed.ts'
import type { Images } from './bed/kubelet/node-settings.ts'
import { INFERENCE, type Suite, suiteProgramOf } from './bed/programs.ts'
import { install, ownImages } from './installed.ts'

/** The suites of the Gateway API, and that of the Gateway API Inference Extension. */
export type OfficialSuite = Suite | 'inference'

/** The profiles of each suite that must pass. */
export const profilesOf: Readonly<Record<Suite, readonly string[]>> = {
  conformance: ['GATEWAY-HTTP', 'GATEWAY-GRPC', 'GATEWAY-TLS', 'GATEWAY-TCP', 'GATEWAY-UDP'],
  'conformance-1.5': ['GATEWAY-HTTP', 'GATEWAY-GRPC', 'GATEWAY-TLS'],
}

interface SuiteResult {
  /** 0 when all of it passes. */
  code: number
  /** The output of the suite, unless it went to the terminal. */
  output: string
  report: string
}

/** An official suite before the controller in a bed of its own. */
export async function runSuite({
  suite,
  flags,
  isShown,
}: {
  suite: OfficialSuite
  flags: readonly string[]
  isShown: boolean
}): Promise<SuiteResult> {
  const bed = await startBed(suite === 'inference' ? inferenceBed() : { images: ownImages(), suite })
  try {
    await install(bed)
    const report = join(bed.folder, 'report.yaml')
    const test = join(suite === 'inference' ? INFERENCE : suiteProgramOf(suite), 'conformance.test')
    const [program = '', ...words] = bed.enter([test, ...suiteFlags(suite, report), ...flags])
    const stdio = isShown ? 'inherit' : 'pipe'
    const run = spawn(program, words, {
      env: { ...process.env, ...bed.environment },
      stdio: ['ignore', stdio, stdio],
    })
    const parts: Buffer[] = []
    for (const stream of [run.stdout, run.stderr]) stream?.on('data', (part: Buffer) => parts.push(part))
    const [code] = (await once(run, 'close')) as [number | null]
    return { code: code ?? 1, output: Buffer.concat(parts).toString(), report: readReport(report) }
  } finally {
    await bed.stop()
  }
}

/** A bed with the endpoint picker and the CRDs of the suite; the model servers are the echo servers of the Gateway API. */
export function inferenceBed(): BedOptions & { images: Images } {
  const folder = join(INFERENCE, 'crds')
  return {
    gatewayApi: 'none',
    manifests: readdirSync(folder).map((name) => join(folder, name)),
    images: { ...ownImages(), lwepp: { command: [join(INFERENCE, 'lwepp')] } },
  }
}

/** A run of single tests writes none. */
function readReport(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Features of the newest suite that have another name in that of 1.5, or none. */
const namesIn15: Readonly<Record<string, string | null>> = {
  GRPCRouteRequestHeaderModifier: null,
  GatewayInfrastructure: 'GatewayInfrastructurePropagation',
  GatewayRouteHostnameIntersectionPrecedence: null,
  HTTPRouteBackendURLRewrite: null,
  HTTPRouteRetryCodes: null,
  HTTPRouteRetryConnectionError: null,
  TCPRoute: null,
  UDPRoute: null,
}

/** The claimed features, by their names in the suite. */
function featuresOf(suite: Suite): readonly string[] {
  if (suite === 'conformance') return supportedFeatures
  return supportedFeatures.flatMap((feature) => (feature in namesIn15 ? (namesIn15[feature] ?? []) : feature))
}

function suiteFlags(suite: OfficialSuite, report: string): string[] {
  const values = {
    'gateway-class': 'portico',
    organization: 'portico',
    project: 'portico',
    url: 'https://portico.dev',
    version: manifest.version,
    contact: 'https://portico.dev',
    'report-output': report,
    ...(suite !== 'inference' && featureFlags(suite)),
  }
  const named = Object.entries(values).map(([name, value]) => `-${name}=${value}`)
  return ['-test.v', '-test.timeout=60m', '-cleanup-base-resources=false', ...named]
}

/** The suite of inference pools needs none of these: all of its features are required. */
function featureFlags(suite: Suite): Readonly<Record<string, string>> {
  return {
    'conformance-profiles': profilesOf[suite].join(','),
    'supported-features': featuresOf(suite).join(','),
    // The last that load balancers of the bed have, and one that they have not.
    'usable-address': '10.97.0.200',
    'unusable-address': '203.0.113.1',
  }
}
