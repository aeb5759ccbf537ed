import { fieldText, type HeaderBlock } from '@portico/http'
import { implementBoth } from '../../../pipeline/context/step.ts'
import type { HeaderModifiersConfig } from './schema.ts'

export const headerModifiers = implementBoth<HeaderModifiersConfig>((config) => {
  const request = config.request && modifier(config.request)
  const response = config.response && modifier(config.response)
  // Host is not among the headers: setting it names the authority the backend sees.
  const host = config.request?.set?.findLast((field) => field.name.toLowerCase() === 'host')?.value
  return {
    ...(request && {
      request: (rx) => {
        request(rx.headers)
        if (host !== undefined) rx.upstreamAuthority = host
      },
    }),
    ...(response && { response: (rx) => response(rx.responseHeaders) }),
  }
})

type Changes = NonNullable<HeaderModifiersConfig['request']>

/** Appends, then replaces, then removes. */
function modifier(changes: Changes): (headers: HeaderBlock) => void {
  const keep = (field: { name: string }): boolean => field.name.toLowerCase() !== 'host'
  const add = (changes.add ?? []).filter(keep).map((field) => ({ name: field.name, value: fieldText(field.value) }))
  const set = (changes.set ?? []).filter(keep).map((field) => ({ name: field.name, value: fieldText(field.value) }))
  const remove = (changes.remove ?? []).map((name) => name.toLowerCase())
  return (headers) => {
    for (const field of add) headers.add(field.name, field.value)
    for (const field of set) headers.set(field.name, field.value)
    for (const name of remove) headers.remove(name)
  }
}
