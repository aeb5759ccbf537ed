import { useData, useRoute } from 'vitepress'
import { h, onMounted, ref } from 'vue'

/** Leads to the same page of another version, or to its first page where it has no such page. */
export const VersionSwitch = {
  setup() {
    const { site, theme } = useData()
    const route = useRoute()
    const { version, siteRoot } = theme.value
    const versions = ref([{ version, path: '' }])
    // Only the newest build knows all versions, so the list is a file beside all of them.
    onMounted(async () => {
      const response = await fetch(`${siteRoot}versions.json`).catch(() => null)
      if (response?.ok) versions.value = await response.json()
    })
    const open = async (chosen) => {
      const { path } = versions.value.find((one) => one.version === chosen)
      const page = `${siteRoot}${path}${route.path.slice(site.value.base.length)}`
      const answer = await fetch(page, { method: 'HEAD' }).catch(() => null)
      window.location.href = answer?.ok ? page : `${siteRoot}${path}`
    }
    return () =>
      h(
        'select',
        {
          class: 'version-switch',
          'aria-label': 'Version of the docs',
          value: version,
          onChange: ({ target }) => open(target.value),
        },
        versions.value.map((one) => h('option', { key: one.version, value: one.version }, one.version)),
      )
  },
}
