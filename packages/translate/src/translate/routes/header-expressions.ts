import type { BackendPolicies } from '@portico/gateway/schema'

interface HeaderChanges {
  set?: { name: string; value: string }[] | undefined
  add?: { name: string; value: string }[] | undefined
  remove?: string[] | undefined
}

/** Converts literal header changes to those of one backend, which are expressions. */
export function asTransformation(changes: {
  request?: HeaderChanges | undefined
  response?: HeaderChanges | undefined
}): NonNullable<BackendPolicies['transformation']> {
  const transform = ({ set, add, remove }: HeaderChanges) => ({
    ...(set !== undefined && { set: set.map(literal) }),
    ...(add !== undefined && { add: add.map(literal) }),
    ...(remove !== undefined && { remove }),
  })
  return {
    ...(changes.request !== undefined && { request: transform(changes.request) }),
    ...(changes.response !== undefined && { response: transform(changes.response) }),
  }
}

function literal({ name, value }: { name: string; value: string }): { name: string; value: string } {
  return { name, value: JSON.stringify(value) }
}
