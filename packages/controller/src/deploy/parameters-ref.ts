import { gwParametersSpec, readSpec, type Resource } from '@portico/translate'
import { textAt, valueAt } from '@portico/translate/json'
import type { Level, Parameters } from './parameters.ts'
import { printProblem } from './print-problem.ts'

type Levels = { ok: true; levels: Level[] } | { ok: false; problems: string[] }

interface Sources {
  gatewayClass: Resource | undefined
  gateway: Resource
  /** GwParameters by `namespace/name`. */
  find: (key: string) => Resource | undefined
}

const GROUP = 'portico.dev'
const KIND = 'GwParameters'

/** Returns the parameters of a Gateway, those of its class first, or all problems with them. */
export function findLevels({ gatewayClass, gateway, find }: Sources): Levels {
  const problems: string[] = []
  const level = (ref: unknown, owner: string, namespace: string | undefined): Level[] => {
    if (ref === undefined) return []
    const [group, kind, name] = [textAt(ref, 'group') ?? '', textAt(ref, 'kind') ?? '', textAt(ref, 'name') ?? '']
    const say = (text: string): [] => {
      problems.push(`${owner}: parametersRef: ${text}`)
      return []
    }
    if (group !== GROUP || kind !== KIND) return say(`found ${group}/${kind}, expected ${GROUP}/${KIND}`)
    if (namespace === undefined) return say('has no namespace')
    const from = `${namespace}/${name}`
    const found = find(from)
    return found === undefined ? say(`there is no ${KIND} ${from}`) : readLevel(from, found, problems)
  }
  const ofClass = valueAt(gatewayClass?.spec, 'parametersRef')
  const ofGateway = valueAt(gateway.spec, 'infrastructure', 'parametersRef')
  const levels = [
    ...level(ofClass, `GatewayClass ${gatewayClass?.metadata.name ?? ''}`, textAt(ofClass, 'namespace')),
    ...level(ofGateway, `Gateway ${gateway.metadata.name}`, gateway.metadata.namespace),
  ]
  if (levels.at(-1)?.spec.mergeGateways === true && ofGateway !== undefined) {
    problems.push(`${KIND} ${levels.at(-1)?.from}: mergeGateways has an effect only when a GatewayClass refers to it`)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, levels }
}

/** Returns the parameters of a shared data plane, or all problems with them. */
export function planeLevels(from: string, parameters: Resource): Levels {
  const problems: string[] = []
  const levels = readLevel(from, parameters, problems)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, levels }
}

function readLevel(from: string, found: Resource, problems: string[]): Level[] {
  const spec = readSpec(gwParametersSpec, found)
  // Parameters contain no references, so the parsed spec is complete.
  if (spec.ok) return [{ from, spec: spec.value as Parameters }]
  problems.push(...spec.problems.map((problem) => `${KIND} ${from}: ${printProblem(problem)}`))
  return []
}
