/** An address of a Service, as a controller sends it. */
interface MeshAddress {
  /** `host:port` */
  address: string
  /** Whether the endpoint is in the mesh, so that it is called through HBONE. */
  isHbone: boolean
  /** The SPIFFE ID that the endpoint must have; null accepts every identity of the accepted trust domains. */
  identity: string | null
}

/**
 * Returns the text of an address in the mesh: `10.0.0.7:8080;hbone`, followed by `=` and the SPIFFE ID when it is known.
 * Other addresses are plain `10.0.0.7:8080`.
 */
export function formatMeshAddress(address: string, identity: string | null): string {
  return identity === null ? address + MARK : `${address}${MARK}=${identity}`
}

export function parseMeshAddress(text: string): MeshAddress {
  const mark = text.indexOf(MARK)
  if (mark === -1) return { address: text, isHbone: false, identity: null }
  const rest = text.slice(mark + MARK.length)
  return { address: text.slice(0, mark), isHbone: true, identity: rest === '' ? null : rest.slice(1) }
}

/** The part of an address text that follows `host:port`, for readers that validate the whole text. */
export const MESH_MARK = '(?:;hbone(?:=spiffe://[A-Za-z0-9._-]{1,255}/[A-Za-z0-9._/-]{1,1024})?)?'

const MARK = ';hbone'
