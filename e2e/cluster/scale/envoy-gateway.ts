import { execFileSync } from 'node:child_process'
import { copyFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { envoy } from '../../../bench/peers/envoy.mjs'
import { programAt } from '../../../bench/machine.mjs'
import type { Bed } from '../bed/bed.ts'
import { withoutHelm } from '../bed/programs.ts'
import { helm } from '../chart.ts'
import { rolledOut } from '../installed.ts'
import { NAMESPACE, ROUTES } from './objects.ts'
import type { Contender } from './scene.ts'
import { pathOf } from '../../../packages/controller/src/kube/kinds.ts'

/** Envoy Gateway as its chart installs it, with Envoy as it deploys that: what our controller is held against. */

const SYSTEM = 'envoy-gateway-system'
const MODULE = 'github.com/envoyproxy/gateway'
const VARIABLE = 'BENCH_ENVOY_GATEWAY'
/** Inside of the checkout, which every Pod of a bed sees, whoever it runs as. */
const PROGRAMS = fileURLToPath(new URL('../../../node_modules/.cache/envoy-gateway', import.meta.url))

interface EnvoyGateway {
  program: string
  version: string
  /** The folder of charts in the module that the program was built from. */
  charts: string
  envoy: { command: string; version: string }
}

/** Returns the installation, or the reason why it cannot run here. */
export function findEnvoyGateway(): EnvoyGateway | string {
  const program = programAt(VARIABLE, 'envoy-gateway')
  if (program === null) return `no Envoy Gateway here (set ${VARIABLE})`
  const data = envoy.find()
  if (data === null) return 'no Envoy here (set BENCH_ENVOY, or e2e/extensions/servers/build.sh installs it)'
  if (withoutHelm !== false) return withoutHelm
  // Built by Go, it knows its version, and its charts are beside its source.
  const version = new RegExp(`^\\tmod\\t${MODULE}\\t(\\S+)`, 'm').exec(go('version', '-m', program))?.[1] ?? ''
  const charts = join(go('env', 'GOMODCACHE').trim(), `${MODULE}@${version}`, 'charts')
  if (!existsSync(charts)) return `no charts of Envoy Gateway at ${charts}`
  return { program, version, charts, envoy: data }
}

function go(...args: string[]): string {
  try {
    return execFileSync('go', args, { encoding: 'utf8' })
  } catch {
    return ''
  }
}

export function envoyGateway({ program, charts, envoy: { command } }: EnvoyGateway): Contender {
  return {
    bed() {
      mkdirSync(PROGRAMS, { recursive: true })
      for (const [from, name] of [
        [program, 'envoy-gateway'],
        [command, 'envoy'],
      ] as const) {
        copyFileSync(from, join(PROGRAMS, name))
        chmodSync(join(PROGRAMS, name), 0o755)
      }
      // Its Pods name their programs and not where they are.
      const env = { PATH: `${PROGRAMS}:/usr/bin:/bin:/usr/sbin:/sbin` }
      const own = { command: [join(PROGRAMS, 'envoy-gateway')], env }
      return {
        gatewayApi: 'none',
        manifests: definitions(charts),
        images: { gateway: own, 'gateway-dev': own, envoy: { command: [join(PROGRAMS, 'envoy')], env } },
      }
    },
    install: (bed) => install(bed, charts),
    className: 'envoy',
    places: {
      controller: {
        namespace: SYSTEM,
        deployment: 'envoy-gateway',
        label: 'control-plane=envoy-gateway',
        port: 19_001,
        ready: '/readyz',
        readyPort: 8081,
      },
    },
    isSettled: ({ bed }, routes) => areTold(bed, routes),
  }
}

/** Its own kinds, and those of the Gateway API as it brings them. */
function definitions(charts: string): string[] {
  const folder = join(charts, 'gateway-helm/charts/crds/crds')
  const own = readdirSync(join(folder, 'generated')).map((name) => join(folder, 'generated', name))
  return [join(folder, 'gatewayapi-crds.yaml'), ...own]
}

async function install(bed: Bed, charts: string): Promise<void> {
  await bed.kubectl('create', 'namespace', SYSTEM)
  // A Job of the chart does this in a cluster; a bed has no controller for Jobs.
  const certificates = ['envoy-gateway', 'certgen', '--disable-topology-injector']
  const made = await bed.exec([
    'env',
    `PATH=${PROGRAMS}:/usr/bin:/bin`,
    `ENVOY_GATEWAY_NAMESPACE=${SYSTEM}`,
    ...certificates,
  ])
  if (made.code !== 0) throw new Error(`Envoy Gateway makes no certificates: ${made.stdout}${made.stderr}`)
  const values = join(PROGRAMS, 'values.yaml')
  const text = readFileSync(join(charts, 'gateway-helm/values.tmpl.yaml'), 'utf8')
  writeFileSync(
    values,
    text.replaceAll('${GatewayImage}', 'example.com/envoyproxy/gateway:bed').replaceAll(/\$\{\w+\}/g, 'IfNotPresent'),
  )
  const set = Object.entries(VALUES).flatMap(([name, value]) => ['--set-json', `${name}=${value}`])
  const args = ['--namespace', SYSTEM, '--no-hooks', '--values', values, ...set]
  const rendered = await helm('template', 'eg', join(charts, 'gateway-helm'), ...args)
  if (!rendered.ok) throw new Error(rendered.stderr)
  await bed.apply(rendered.stdout, GATEWAY_CLASS)
  await rolledOut(bed, SYSTEM, 'envoy-gateway')
}

const VALUES = {
  // They are there already.
  'crds.enabled': false,
  // Asks a webhook about every Pod.
  'topologyInjector.enabled': false,
  // Envoy opens its standard output for that, which is a socket in a bed.
  'config.envoyGateway.envoyProxy.telemetry.accessLog.disable': true,
}

const GATEWAY_CLASS = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'envoy' },
  spec: { controllerName: 'gateway.envoyproxy.io/gatewayclass-controller' },
}

interface RouteList {
  items: { status?: { parents?: { conditions?: { type: string; status: string }[] }[] } }[]
}

/** Whether that many routes have a status that accepts them. */
async function areTold(bed: Bed, routes: number): Promise<boolean> {
  const { items } = (await bed.client.ask({ path: pathOf(ROUTES, { namespace: NAMESPACE }) })) as RouteList
  const taken = items.filter(({ status }) =>
    status?.parents?.some(({ conditions }) =>
      conditions?.some(({ type, status: is }) => type === 'Accepted' && is === 'True'),
    ),
  )
  return taken.length === routes
}
