// The module of the client alone: the entry of the package also has a pool, and native code that is not installed.
declare module 'pg/lib/client.js' {
  import { Client } from 'pg'

  export default Client
}
