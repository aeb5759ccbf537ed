/** `@portico/http/text`: syntax of addresses and cookies; loads in a browser. */
export { codeAt } from '../text/characters.ts'
export { cookieValues } from '../text/cookie-lines.ts'
export { isCidr, isIp, isIpv4, isIpv6 } from '../text/ip.ts'
export { formatMeshAddress, MESH_MARK, parseMeshAddress } from '../text/mesh-address.ts'
