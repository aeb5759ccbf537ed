import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { PageSource } from './page-source.js'
import { VersionSwitch } from './version-switch.js'
import './style.css'

// The default theme without its web fonts: pages ask nobody but their own server.
// oxlint-disable-next-line import/no-default-export -- VitePress reads it.
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-before': () => h(VersionSwitch),
      'doc-footer-before': () => h(PageSource),
    }),
}
