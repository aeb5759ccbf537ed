import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Resource } from '@portico/translate'
import { parse, parseAllDocuments } from 'yaml'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { findLevels, planeLevels } from '../deploy/parameters-ref.ts'
import { planeResource } from '../shared-plane.ts'
import type { DesiredState } from '../deploy/deployer.ts'
import type { DeploySettings } from '../deploy/render.ts'

const root = fileURLToPath(new URL('../../cases/deploy', import.meta.url))

const usual: DeploySettings = { image: { registry: 'registry.example', repository: 'portico' }, version: '1.2.3' }

/** One folder of `cases/deploy`: a Gateway, its parameters, and optional settings of the controller. */
interface DeployCase {
  name: string
  folder: string
  resources: Resource[]
  settings: DeploySettings
}

export function readDeployCases(): DeployCase[] {
  return readdirSync(root)
    .toSorted()
    .map((name) => {
      const folder = join(root, name)
      const resources = readResources(join(folder, 'in.yaml'))
      return { name, folder, resources, settings: readSettings(join(folder, 'settings.yaml')) }
    })
}

function readSettings(file: string): DeploySettings {
  if (!existsSync(file)) return usual
  return { ...usual, ...(parse(readFileSync(file, 'utf8')) as Partial<DeploySettings>) }
}

/** Returns the desired deployment of the resources, or the problems with their parameters. */
export function desiredOf(
  resources: readonly Resource[],
): { ok: true; desired: DesiredState } | { ok: false; problems: string[] } {
  const ofKind = (kind: string): Resource[] => resources.filter((resource) => resource.kind === kind)
  const [gateway] = ofKind('Gateway')
  if (gateway === undefined) throw new Error('there is no Gateway')
  const className = textAt(gateway.spec, 'gatewayClassName') ?? ''
  const gatewayClass = ofKind('GatewayClass').find(({ metadata }) => metadata.name === className)
  const find = (key: string): Resource | undefined =>
    ofKind('GwParameters').find(({ metadata: { namespace, name } }) => `${namespace}/${name}` === key)
  const ref = valueAt(gatewayClass?.spec, 'parametersRef')
  const from = `${textAt(ref, 'namespace')}/${textAt(ref, 'name')}`
  const shared = find(from)
  const isShared = shared !== undefined && valueAt(shared.spec, 'mergeGateways') === true
  const found = isShared ? planeLevels(from, shared) : findLevels({ gatewayClass, gateway, find })
  if (!found.ok) return found
  const listeners = [...ofKind('Gateway'), ...ofKind('ListenerSet')].flatMap(({ spec }) => listAt(spec, 'listeners'))
  const portsOf = (isUdp: boolean): number[] =>
    listeners
      .filter((listener) => (textAt(listener, 'protocol') === 'UDP') === isUdp)
      .map((listener) => Number(valueAt(listener, 'port')))
  const [ports, udpPorts] = [portsOf(false), portsOf(true)]
  const owner = isShared ? { gateway: planeResource(shared), className: '' } : { gateway, className }
  return { ok: true, desired: { ...owner, ports, udpPorts, levels: found.levels } }
}

function readResources(file: string): Resource[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`)
    return document.toJS() as Resource
  })
}
