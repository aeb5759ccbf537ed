import { didYouMean, ModelNames } from '@portico/gateway/schema'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import type { NamedPlan, TableModel } from './model-plan.ts'

interface ResolvedTargets {
  targets: NonNullable<TableModel['targets']>
  /** Targets that no model serves: their calls fail, and the next target follows. */
  missing: { model: string; message: string }[]
}

/** Resolves the targets of a virtual model to names of models of the same table. */
export function resolveTargets(
  context: Context,
  { namespace, spec }: NamedPlan,
  table: readonly NamedPlan[],
): ResolvedTargets | Unusable {
  const names = new ModelNames(table.map((plan) => ({ name: plan.model, plan })))
  const missing: ResolvedTargets['missing'] = []
  const targets: ResolvedTargets['targets'] = []
  for (const [index, { modelRef, model, ...rest }] of (spec?.targets ?? []).entries()) {
    const path = `spec.targets[${index}]`
    const place = `${namespace}/${modelRef.name}`
    const found = table.find((plan) => plan.place === place)
    if (found === undefined) {
      const name = `unresolved/${place}`
      missing.push({
        model: name,
        message: `${path}.modelRef: ${absence(context, { namespace, name: modelRef.name })}`,
      })
      targets.push({ ...rest, model: name })
      continue
    }
    if (model === undefined && found.model.includes('*')) {
      const message = `${path}: GwModel ${place} has the pattern \`${found.model}\`, so \`model\` is required`
      return { reason: 'UnsupportedValue', message }
    }
    if (model !== undefined && names.find(model)?.model.plan !== found) {
      const message = `${path}.model: \`${model}\` is not the model of GwModel ${place}, which has \`${found.model}\``
      return { reason: 'UnsupportedValue', message }
    }
    targets.push({ ...rest, model: model ?? found.model })
  }
  return { targets, missing }
}

/** Why a GwModel is not in the table. */
function absence(context: Context, { namespace, name }: { namespace: string; name: string }): string {
  const place = `${namespace}/${name}`
  const known = context.keys('GwModel', { by: 'namespace', value: namespace })
  if (known.includes(place)) return `GwModel ${place} is not served by this parent`
  const suggestion = didYouMean(
    name,
    known.map((key) => key.slice(namespace.length + 1)),
  )
  return `GwModel ${place} not found${suggestion === null ? '' : ` (${suggestion})`}`
}
