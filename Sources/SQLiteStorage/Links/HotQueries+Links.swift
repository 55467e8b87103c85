extension HotQueries {
    private static let appOfLink = "SEARCH apps USING INTEGER PRIMARY KEY (rowid=?)"
    private static let tagOfLink = [
        "CORRELATED SCALAR SUBQUERY",
        "SEARCH link_fields USING COVERING INDEX links_by_tag (value=? AND link=? AND field=?)",
    ]

    /// Statements on links, of which there may be a million.
    package static let links = [
        Query(
            name: "link of a slug",
            sql: LinkSQL.bySlug,
            plan: ["SEARCH links USING INDEX sqlite_autoindex_links_2 (slug=?)", appOfLink]
        ),
        Query(
            name: "link by identifier",
            sql: LinkSQL.byID,
            plan: ["SEARCH links USING INDEX sqlite_autoindex_links_1 (id_high=? AND id_low=?)", appOfLink]
        ),
        Query(
            name: "slug that two apps have",
            sql: LinkSQL.sharedSlug,
            plan: [
                "SEARCH own USING INDEX links_by_app (app=?)", "SCALAR SUBQUERY",
                "SEARCH apps USING COVERING INDEX sqlite_autoindex_apps_2 (id_high=? AND id_low=?)",
                "SEARCH other USING COVERING INDEX sqlite_autoindex_links_2 (slug=? AND app=?)",
                "SCALAR SUBQUERY",
                "SEARCH apps USING COVERING INDEX sqlite_autoindex_apps_2 (id_high=? AND id_low=?)",
            ]
        ),
        Query(
            name: "fields of a link",
            sql: LinkSQL.fields,
            plan: ["SEARCH link_fields USING PRIMARY KEY (link=?)"]
        ),
        Query(
            name: "counts of a link",
            sql: LinkSQL.counts,
            plan: ["SEARCH link_counts USING PRIMARY KEY (link=?)"]
        ),
        Query(
            name: "live links of a campaign",
            sql: LinkSQL.liveOfCampaign,
            plan: [
                "CO-ROUTINE links", "SEARCH links USING INDEX links_by_campaign (campaign_key=?)",
                "SCAN links",
                "CORRELATED SCALAR SUBQUERY", "SEARCH link_counts USING PRIMARY KEY (link=? AND variant=?)",
                appOfLink,
            ]
        ),
        Query(
            name: "links",
            sql: LinkPageReader.ofAll,
            plan: ["SEARCH links USING INTEGER PRIMARY KEY (rowid<?)", appOfLink] + tagOfLink
        ),
        Query(
            name: "links of an app",
            sql: LinkPageReader.ofApp,
            plan: ["SEARCH links USING INDEX links_by_app (app=? AND rowid<?)", appOfLink] + tagOfLink
        ),
        Query(
            name: "links of a campaign",
            sql: LinkPageReader.ofCampaign,
            plan: [
                "SEARCH links USING INDEX links_by_campaign (campaign_key=? AND rowid<?)", appOfLink,
            ] + tagOfLink
        ),
        Query(
            name: "links of a tag",
            sql: LinkPageReader.ofTag,
            plan: [
                "SEARCH tag USING COVERING INDEX links_by_tag (value=? AND link<?)",
                "SEARCH links USING INTEGER PRIMARY KEY (rowid=?)", appOfLink,
            ]
        ),
        Query(
            name: "deletion of a link's fields",
            sql: LinkSQL.deleteFields,
            plan: ["SEARCH link_fields USING PRIMARY KEY (link=?)"]
        ),
    ]
}
