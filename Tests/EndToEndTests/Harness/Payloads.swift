/// Texts that break out of SQL, JSON, a path, a header or a shell command that is joined from pieces.
enum Payloads {
    static let all: [String] = sql + others

    private static let sql = [
        "'", "''", "\"", "`", "\\", "';", "'--", "' --", "'/*", "*/", ";", "--", "#", "' OR '1'='1",
        "' OR 1=1--", "\" OR \"\"=\"", "1 OR 1=1", "1' OR '1'='1' /*", "') OR ('1'='1", "')) OR (('1'='1",
        "' OR ''='", "' || 1=1--", "'; DROP TABLE clicks; --", "'; DELETE FROM apps; --",
        "'; UPDATE api_keys SET revoked_at = NULL; --", "' UNION SELECT NULL--",
        "' UNION SELECT NULL,NULL,NULL--", "' UNION SELECT sql FROM sqlite_master--",
        "' UNION ALL SELECT 1,2,3,4,5,6,7,8,9,10--", "1; ATTACH DATABASE 'x.db' AS x; --",
        "'; PRAGMA writable_schema=1; --", "' AND 1=randomblob(1000000000)--",
        "' AND 1=(SELECT COUNT(*) FROM clicks a, clicks b, clicks c)--", "' AND load_extension('x')--",
        "'; SELECT pg_sleep(10); --", "' AND SLEEP(10)--", "'; WAITFOR DELAY '0:0:10'--",
        "1 AND 1=2 UNION SELECT hex(digest) FROM api_keys", "' GROUP BY 1 HAVING 1=1--", "' ORDER BY 100--",
        "' LIMIT 1,1--", "%' OR '%'='", "_", "%", "' LIKE '%", "' GLOB '*", "x' MATCH 'x", "?1", ":name",
        "@p", "$1", "NULL", "0x27", "char(39)", "CAST(x AS INT)", "CASE WHEN 1=1 THEN 1 ELSE 1/0 END",
        "1e309", "-1", "9223372036854775808", "0/0",
    ]

    private static let others = [
        "{\"$gt\":\"\"}", "[]", "{}", "\",\"app\":\"x", "\\u0000", "\\ud800", "null", "true",
        "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "....//....//etc/passwd", "/etc/passwd",
        "C:\\Windows\\win.ini", "file:///etc/passwd", "%00", "%0d%0aX-Injected: 1", "%0aSet-Cookie: a=b",
        "%c0%ae%c0%ae/", "%u0027", "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
        "javascript:alert(1)", "{{7*7}}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "${jndi:ldap://127.0.0.1/a}",
        "; ls -la", "| cat /etc/passwd", "`id`", "$(id)", "&& sleep 10", "|| sleep 10", "%s%s%s%s%n",
        "%x%x%x", "() { :;}; echo x", "=1+1", "+1+1", "@SUM(1)", "-2+3",
        "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///\">]>", "*)(uid=*", "' or count(/*)=1 or 'a'='b",
        "\u{feff}", "\u{202e}txt", "ﬀ", "İi̇", "😀", "a\u{301}\u{301}\u{301}", "admin'--",
        "http://169.254.169.254/latest/meta-data", "myapp://x' OR '1'='1", "https://u:p@host/", "--help",
        "-rf", "~", "*", "true AND",
    ]
}
