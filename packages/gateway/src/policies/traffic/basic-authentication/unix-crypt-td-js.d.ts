declare module 'unix-crypt-td-js' {
  /** DES-based crypt(3); the first two characters of `salt` count, so a whole hash will do. */
  export default function unixCrypt(password: string | number[], salt: string): string
}
