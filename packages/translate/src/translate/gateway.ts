import { EMPTY_IR, type Ir } from '@portico/gateway/ir'
import { Fields } from '../resources/fields.ts'
import type { Query } from './context.ts'
import { isOurClass } from './gateway-class.ts'

/** What one Gateway is to run; null for those of other classes. */
export const gatewayConfig: Query<Ir | null> = {
  name: 'gatewayConfig',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    const className = new Fields(resource?.spec, ['spec'], []).text('gatewayClassName')
    return className !== undefined && context.read(isOurClass, className) ? EMPTY_IR : null
  },
}
