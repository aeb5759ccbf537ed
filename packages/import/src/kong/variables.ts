import { Template } from '../core/config-yaml.ts'
import { type HttpPort, variablesOfHost } from '../http/model.ts'

/** Returns the names of the environment variables in hosts and backends. */
export function variablesOf(ports: readonly HttpPort[]): Set<string> {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (value instanceof Template) for (const [, name = ''] of value.text.matchAll(/\$\{(\w+)\}/g)) found.add(name)
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) visit(each)
  }
  for (const { rules } of ports) {
    for (const { hosts, backends, policies } of rules) {
      for (const name of hosts.flatMap(variablesOfHost)) found.add(name)
      visit([backends, policies])
    }
  }
  return found
}
