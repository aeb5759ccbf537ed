import { Fields, type FieldProblem } from '../../resources/fields.ts'
import { condition, type GatewayClassStatus } from '../../resources/status.ts'
import type { Context, Query } from '../context.ts'
import { supportedFeatures } from './supported-features.ts'

/** Whether this controller owns a class. */
export const isOurClass: Query<boolean> = {
  name: 'isOurClass',
  compute(context, name) {
    const resource = context.get('GatewayClass', name)
    if (resource === undefined) return false
    const problems: FieldProblem[] = []
    const spec = new Fields(resource.spec, ['spec'], problems)
    return spec.text('controllerName') === context.settings.controllerName
  },
}

export const gatewayClassStatus: Query<GatewayClassStatus | null> = {
  name: 'gatewayClassStatus',
  compute(context: Context, name) {
    if (!context.read(isOurClass, name)) return null
    const generation = context.get('GatewayClass', name)?.metadata.generation ?? 0
    const message = `GatewayClass accepted by ${context.settings.controllerName}`
    return {
      conditions: [condition('Accepted', true, { reason: 'Accepted', message, generation })],
      supportedFeatures: supportedFeatures.map((feature) => ({ name: feature })),
    }
  },
}
