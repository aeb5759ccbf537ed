import type { Handler } from '../../chain/routes.ts'
import type { SecretVariables } from '../../core/secret-variables.ts'
import type { Field } from '../../core/yaml-field.ts'
import { readHeaderOption, removal } from '../messages/header-changes.ts'
import { listAt, memberAt } from '../messages/message.ts'
import type { FilterReader } from './filter.ts'

/**
 * Reads the filter `header_mutation`. The changes in the config of a route follow the changes in the config of the
 * filter.
 */
export const headerMutation: FilterReader = (config, { variables }) => {
  const standard = changesOf(config, variables)
  return (override) => [...standard, ...(override === null ? [] : changesOf(override, variables))]
}

function changesOf(config: Field, variables: SecretVariables): Handler[] {
  const mutations = memberAt(config, 'mutations')
  for (const name of ['query_parameter_mutations', 'request_trailers_mutations', 'response_trailers_mutations'])
    memberAt(mutations, name)?.notCarried('configure a transformation: docs/policies/traffic-transformation.md')
  return (['request', 'response'] as const).flatMap((side) =>
    listAt(mutations, `${side}_mutations`).flatMap((mutation) => {
      const [removed, appended] = [memberAt(mutation, 'remove'), memberAt(mutation, 'append')]
      if (removed !== null) return removal(side, removed)
      if (appended !== null) return readHeaderOption(side, appended, variables)
      mutation.notCarried('configure a transformation: docs/policies/traffic-transformation.md')
      return []
    }),
  )
}
