declare module 'virtual:config-schema' {
  import type { JsonSchema } from './schema-walk.ts'
  const schema: JsonSchema
  export default schema
}
